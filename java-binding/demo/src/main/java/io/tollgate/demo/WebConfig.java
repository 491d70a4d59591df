package io.tollgate.demo;

import java.io.File;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.LocaleResolver;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.ResourceHandlerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.i18n.CookieLocaleResolver;
import org.springframework.web.servlet.i18n.LocaleChangeInterceptor;

/** The language of a request, and where EasyUI's files are. Nothing here knows that a method is guarded. */
@Configuration
class WebConfig implements WebMvcConfigurer {

    private final String easyui;

    /** @param easyui the folder that EasyUI was fetched into: its licence lets it be used, not be shipped with this application */
    WebConfig(@Value("${demo.easyui:node_modules/jquery-easyui}") String easyui) {
        this.easyui = easyui;
    }

    /** Accept-Language decides until {@code ?lang=} has chosen. */
    @Bean
    LocaleResolver localeResolver() {
        CookieLocaleResolver resolver = new CookieLocaleResolver();
        resolver.setCookieName("lang");
        resolver.setCookieHttpOnly(true);
        return resolver;
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        LocaleChangeInterceptor lang = new LocaleChangeInterceptor();
        lang.setParamName("lang");
        lang.setIgnoreInvalidLocale(true);
        registry.addInterceptor(lang).addPathPatterns("/");
    }

    @Override
    public void addResourceHandlers(ResourceHandlerRegistry registry) {
        registry.addResourceHandler("/easyui/**").addResourceLocations(new File(easyui).toURI() + "/");
        registry.addResourceHandler("/static/**").addResourceLocations("/static/");
    }
}
